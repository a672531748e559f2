/**
 * An editor of GVDL: a plain text box at first, and CodeMirror in its place when that is loaded. If it cannot be
 * loaded, the text box stays, and problems stand below it all the same.
 *
 * Tab indents. Who wants to leave by the keyboard presses Escape first; then Tab moves on.
 *
 * @import { GvdlProblem } from "../types.d.ts"
 * @import { Offers } from "./gvdl.js"
 * @typedef {typeof import("gt/vendor/editor.js")} Library
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "gt/vendor/preact.js";
import { gvdlTokens } from "gt/parts/gvdl.js";

/**
 * @typedef {object} EditorProps
 * @property {string} text
 * @property {(text: string) => void} onChange
 * @property {GvdlProblem[]} problems  of the text that `checked` is; they are marked while that is the text
 * @property {string} [checked]  the text that the problems are of; if left out, the text at hand
 * @property {string} label
 * @property {(before: string) => Offers | null} [complete]  what may stand behind a text
 * @property {() => void} [onRun]  Ctrl-Enter
 */

/** @param {EditorProps} props */
export function Editor(props) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  const editor = useRef(/** @type {{ library: Library, view: InstanceType<Library["EditorView"]> } | null} */ (null));
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    let here = true;
    import("gt/vendor/editor.js").then(
      (library) => {
        if (!here || !place.current) return;
        const box = place.current.parentElement?.querySelector("textarea");
        const focused = box === document.activeElement;
        const view = opened(library, place.current, latest, box?.selectionStart ?? 0);
        editor.current = { library, view };
        setLoaded(true);
        if (focused) view.focus();
      },
      () => {},
    );
    return () => {
      here = false;
      editor.current?.view.destroy();
      editor.current = null;
    };
  }, []);
  // At once, not after the next picture: what is typed meanwhile would be overwritten.
  useLayoutEffect(() => {
    const view = editor.current?.view;
    if (!view || view.state.doc.toString() === props.text) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: props.text } });
  }, [props.text, loaded]);
  useEffect(() => {
    if (!editor.current) return;
    const { library, view } = editor.current;
    const text = view.state.doc.toString();
    if (props.checked !== undefined && props.checked !== text) return;
    view.dispatch(library.setDiagnostics(view.state, props.problems.map((problem) => marked(problem, text))));
  }, [props.problems, props.checked, loaded]);
  return html`<div class="editor">
    <div ref=${place} class="editor-place"></div>
    ${!loaded && html`<${TextBox} ...${props} />`}
  </div>`;
}

/** @param {EditorProps} props */
function TextBox({ text, onChange, label, onRun }) {
  const hear = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onRun?.();
  };
  return html`<textarea
    class="editor-box"
    rows="10"
    spellcheck=${false}
    aria-label=${label}
    value=${text}
    onInput=${(/** @type {InputEvent} */ event) => onChange(/** @type {HTMLTextAreaElement} */ (event.target).value)}
    onKeyDown=${hear}
  />`;
}

/**
 * @param {Library} library @param {HTMLElement} parent @param {{ current: EditorProps }} latest @param {number} cursor
 */
function opened(library, parent, latest, cursor) {
  const { EditorState, EditorView } = library;
  const { text } = latest.current;
  const hear = EditorView.updateListener.of((update) => {
    if (update.docChanged && update.state.doc.toString() !== latest.current.text) latest.current.onChange(update.state.doc.toString());
  });
  const state = EditorState.create({
    doc: text,
    selection: { anchor: Math.min(cursor, text.length) },
    extensions: [...bindings(library, latest), ...looks(library, latest), hear],
  });
  return new EditorView({ state, parent });
}

/** Keys, completion and what happens while typing. @param {Library} library @param {{ current: EditorProps }} latest */
function bindings(library, latest) {
  const { keymap } = library;
  const run = () => {
    latest.current.onRun?.();
    return true;
  };
  return [
    keymap.of([{ key: "Mod-Enter", run }]),
    library.history(),
    library.autocompletion({ override: [(context) => completions(context, latest)], icons: false }),
    library.closeBrackets(),
    keymap.of([
      ...library.closeBracketsKeymap,
      ...library.completionKeymap,
      ...library.lintKeymap,
      ...library.historyKeymap,
      ...library.defaultKeymap,
      library.indentWithTab,
    ]),
  ];
}

/** Colours, marks and lines. @param {Library} library @param {{ current: EditorProps }} latest */
function looks(library, latest) {
  const { EditorView, HighlightStyle, StreamLanguage, syntaxHighlighting, tags } = library;
  const style = HighlightStyle.define([
    { tag: tags.keyword, class: "gvdl-keyword" },
    { tag: tags.comment, class: "gvdl-comment" },
    { tag: tags.string, class: "gvdl-text" },
    { tag: [tags.number, tags.unit], class: "gvdl-number" },
    { tag: tags.labelName, class: "gvdl-view" },
    { tag: tags.className, class: "gvdl-program" },
    { tag: tags.propertyName, class: "gvdl-property" },
    { tag: tags.atom, class: "gvdl-atom" },
  ]);
  const nonce = document.querySelector('meta[name="graphtide-nonce"]')?.getAttribute("content");
  return [
    ...(nonce ? [EditorView.cspNonce.of(nonce)] : []),
    library.lineNumbers(),
    library.lintGutter(),
    library.highlightActiveLine(),
    library.bracketMatching(),
    EditorView.lineWrapping,
    StreamLanguage.define(/** @type {any} */ (gvdlTokens)),
    syntaxHighlighting(style),
    EditorView.contentAttributes.of({ "aria-label": latest.current.label, "aria-multiline": "true", spellcheck: "false" }),
    library.placeholder("create view collection …"),
  ];
}

/** @param {any} context  of CodeMirror's completion @param {{ current: EditorProps }} latest */
function completions(context, latest) {
  const before = context.state.sliceDoc(0, context.pos);
  if (!context.explicit && !/[\p{L}\p{N}_.]$/u.test(before)) return null;
  const found = latest.current.complete?.(before);
  if (!found || found.offers.length === 0) return null;
  return { from: found.from, options: found.offers, validFor: /^[\p{L}\p{N}_]*$/u };
}

/**
 * A problem as a mark in the text, at least one character wide.
 *
 * @param {GvdlProblem} problem @param {string} text
 */
function marked(problem, text) {
  const to = Math.min(Math.max(problem.to, problem.from), text.length);
  const from = Math.min(problem.from, to);
  const wide = from < to ? { from, to } : { from: Math.max(0, from - 1), to: Math.min(text.length, from + (from ? 0 : 1)) };
  const hint = problem.hint ? `\ntry: ${problem.hint}` : "";
  return { ...wide, severity: /** @type {const} */ ("error"), message: `${problem.what}${hint}` };
}
