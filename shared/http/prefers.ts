/**
 * Whether an `Accept` header (RFC 9110 §12.5.1) prefers a media type to JSON. The type's weight must be above
 * zero, and at least that of `application/json`.
 */
export function prefers(accept: string | undefined, mediaType: string): boolean {
  const weights = new Map(
    (accept ?? '').split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
    }),
  )
  const wanted = weights.get(mediaType) ?? 0
  return wanted > 0 && wanted >= (weights.get('application/json') ?? 0)
}
