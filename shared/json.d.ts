/** Declares `JSON.rawJSON` (ECMAScript, JSON.parse source text access), which TypeScript's library lacks. */
interface JSON {
  rawJSON(text: string): { readonly rawJSON: string }
}
