"""The dataflow engine: a machine of one memory, and what turns plans into its operators."""
