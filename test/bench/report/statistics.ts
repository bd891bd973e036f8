/** The middle of several measurements. Throws if there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [upper, lower] = [sorted[middle], sorted[Math.ceil(sorted.length / 2) - 1]]
  if (upper === undefined || lower === undefined) throw new Error('nothing was measured')
  return (upper + lower) / 2
}

/**
 * Measures every candidate once, then every candidate again, and so on, so that a machine whose speed drifts
 * is as fast for one as for another. Resolves with the measurements of each candidate, in its order.
 */
export async function interleave<Candidate, Measurement>(
  candidates: readonly Candidate[],
  samples: number,
  measure: (candidate: Candidate) => Promise<Measurement>,
): Promise<Measurement[][]> {
  const measured: Measurement[][] = candidates.map(() => [])
  for (let sample = 0; sample < samples; sample += 1)
    for (const [i, candidate] of candidates.entries()) measured[i]?.push(await measure(candidate))
  return measured
}
