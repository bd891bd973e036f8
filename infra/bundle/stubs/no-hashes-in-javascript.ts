/**
 * Replaces the SDK's SHA-256 in JavaScript in a bundle. It is for runtimes whose `node:crypto` has none; if a
 * client uses it, this throws.
 */
export function Sha256Js(): never {
  throw new Error('node:crypto has no SHA-256: bundle Sha256Js of @smithy/core for it')
}

/** Replaces the SDK's MD5 in JavaScript in the same way. */
export function Md5Js(): never {
  throw new Error('node:crypto has no MD5: bundle Md5Js of @smithy/core for it')
}
