/** Graphs drawn by WebGL. */
export { default as Graph } from "graphology";
export { default as Sigma } from "sigma";
export { EdgeArrowProgram, EdgeLineProgram, EdgeRectangleProgram, NodeCircleProgram, NodePointProgram } from "sigma/rendering";
