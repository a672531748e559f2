/**
 * The words of GVDL: those of `lang/gvdl/grammar.lark` and the names of the library's computations. A test compares
 * both lists with what they are lists of.
 */

/** Keywords. Each is one only where the grammar has it, so that a property may be called `step`. */
export const KEYWORDS = new Set(
  `1_stage_differential 2_stage_differential adaptive advance aggregate algo and arranged_differential arranged_individual
  as at auto bad basic basic_individual between block_size both bound budget by chain collection collections comment comp_x
  compare_differential computation computations create cross cube cubes data date delete deserialize diff_x differential
  diffresults direction drop dst each edge edge_label edges empty expanding explain false far for forced from graph graphs
  group has_headers hops hosts id in indices individual insert is keep label landmarks like limit live load manually_ordered
  mappings match materialize_full_view materialized mode most named none noresults not null of on or ordered out over pair
  partial path paths process_id program programs quarantine queries query randomize reach refresh refuse regular remove
  replace results resume rows run runs save scratch separator serialize set shards show sliding source spark src step target
  threads timely timestamp timezone to tolerance tree true tumbling undirected until update upto use value values verify
  vertex vertices view views weight where width windows with within without workers`.split(/\s+/),
);

/** Words with which a statement begins. */
export const STARTS = "create load run show explain refresh delete use set advance drop save serialize deserialize".split(" ");

/** Units of time behind a number. */
export const UNITS = "years months weeks days hours minutes seconds milliseconds".split(" ");

/** Computations of the library, and what they take. */
export const COMPUTATIONS = [
  ["adamic_adar", "pairs"],
  ["ancestors", "targets"],
  ["belief_propagation", "first, second, agreement, prior, iterations"],
  ["bfs", "source"],
  ["cliques", "size"],
  ["clustering_coefficients", ""],
  ["co_training_em", "positive, negative, iterations, weight"],
  ["collaborative_filtering", "regularisation, iterations, weight"],
  ["common_neighbours", "pairs"],
  ["converged_page_rank", "damping, tolerance"],
  ["converged_personalised_page_rank", "sources, damping, tolerance"],
  ["degree_statistics", ""],
  ["k_core", "k"],
  ["k_hops", "sources, k"],
  ["label_propagation", "first, second, iterations"],
  ["mpsp", "goals"],
  ["nearest_source", "sources, weight"],
  ["page_rank", "damping, iterations"],
  ["pair_distances", "pairs, weight"],
  ["pair_hops", "pairs"],
  ["personalised_page_rank", "sources, damping, iterations"],
  ["reachability", "sources"],
  ["rings", "length, within, most, time"],
  ["scc", ""],
  ["shortest_paths", "source, weight, weight_cap"],
  ["transitivity", ""],
  ["triad_census", ""],
  ["triangles", ""],
  ["wcc", ""],
  ["widest_path", "source, weight"],
];
