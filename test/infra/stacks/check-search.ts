/**
 * Throws for a search expression that CloudWatch rejects. Names with characters other than letters and digits
 * need double quotes (CloudWatch User Guide: search expression syntax); a slash is allowed, as in AWS/EC2.
 */
export function checkSearch(search: string): void {
  const [, schema = ''] = /^SEARCH\('\{([^}]*)\} .+', '\w+', \d+\)$/.exec(search) ?? []
  if (schema === '') throw new Error('no SEARCH with a schema, a term, a statistic and a period')
  for (const name of schema.split(','))
    if (!/^("[^"]+"|[A-Za-z0-9/]+)$/.test(name)) throw new Error(`${name} needs quotes`)
}
