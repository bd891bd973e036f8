/**
 * `JSON.rawJSON` (ECMAScript, JSON.parse source text access), which TypeScript's library does not describe
 * yet.
 */
interface JSON {
  rawJSON(text: string): { readonly rawJSON: string }
}
