/** Charts. */
export { default as uPlot } from "uplot";
