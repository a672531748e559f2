/**
 * The page in a cell of a notebook: a frame with an origin of its own, and messages between it and Python.
 *
 * anywidget calls `render` for each place where the widget is shown. All places hear what Python sends, so each
 * has a name, and takes what is meant for it. The page itself comes as a message too: as a property of the
 * widget it would be saved in the notebook.
 *
 * @typedef {{ view: string, page?: string, graphtide?: number }} Message
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(message: object) => void} send
 * @property {(event: string, hear: (message: Message) => void) => void} on
 * @property {(event: string, hear: (message: Message) => void) => void} off
 */

/** @param {{ model: Model, el: HTMLElement }} place */
function render({ model, el }) {
  const view = crypto.randomUUID?.() ?? String(Math.random());
  const frame = document.createElement("iframe");
  frame.title = "Graphtide";
  // It runs scripts and saves files, and reaches nothing of the notebook.
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: "0" });
  let address = "";
  /** @param {Message} message */
  const fromPython = (message) => {
    if (message.view !== view) return;
    if (message.page === undefined) {
      frame.contentWindow?.postMessage(message, "*");
    } else {
      address = URL.createObjectURL(new Blob([message.page], { type: "text/html" }));
      frame.src = address;
    }
  };
  /** @param {MessageEvent} event */
  const fromPage = (event) => {
    if (event.source !== frame.contentWindow || typeof event.data?.graphtide !== "number") return;
    model.send({ ...event.data, view });
  };
  model.on("msg:custom", fromPython);
  addEventListener("message", fromPage);
  el.append(frame);
  model.send({ view, open: true });
  return () => {
    model.off("msg:custom", fromPython);
    removeEventListener("message", fromPage);
    URL.revokeObjectURL(address);
  };
}

export default { render };
