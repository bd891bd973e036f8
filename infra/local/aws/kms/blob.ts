import * as v from 'valibot'

/** A binary member of a JSON protocol: base64 on the wire, bytes in here; its length is between the two bounds. */
export function Blob(minimumBytes: number, maximumBytes: number) {
  return v.pipe(
    v.string(),
    v.base64(),
    v.transform((text) => Buffer.from(text, 'base64')),
    v.check((bytes) => bytes.length >= minimumBytes && bytes.length <= maximumBytes, 'length'),
  )
}
