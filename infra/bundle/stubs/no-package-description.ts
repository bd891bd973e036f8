/** Replaces the `package.json` of an SDK client in a bundle, of which the User-Agent carries the version. */
export default { version: 'bundled' }
