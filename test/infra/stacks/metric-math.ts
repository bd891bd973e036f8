/**
 * The types of CloudWatch metric math expressions (CloudWatch User Guide: metric math syntax and functions).
 */
type MathType = 'scalar' | 'time series' | 'array'

/**
 * Aggregate functions of metric math: an array of time series gives one time series, and one time series
 * gives a scalar.
 */
const aggregates = new Set(['AVG', 'MAX', 'MIN', 'SUM', 'STDDEV'])

/** Metric math functions of one value, whose result has the same type. */
const keepingType = new Set(['ABS', 'CEIL', 'FLOOR', 'DIFF', 'RATE', 'RUNNING_SUM'])

/**
 * Returns the type of a metric math expression over metrics with the given ids. Throws for what CloudWatch
 * rejects, and for every part of the language that the stacks do not use.
 */
export function checkMetricMath(expression: string, ids: readonly string[]): MathType {
  const tokens = expression.match(/\d+(\.\d+)?|\w+|[<>=!]=|&&|\|\||\S/g) ?? []
  const peek = () => tokens[0]
  const take = (expected?: string): string => {
    const token = tokens.shift()
    if (token === undefined) throw new Error(`${expression} ends too early`)
    if (expected !== undefined && token !== expected) throw new Error(`${token} instead of ${expected}`)
    return token
  }

  const list = (end: string): MathType[] => {
    const types = [binary()]
    while (peek() === ',') {
      take(',')
      types.push(binary())
    }
    take(end)
    return types
  }

  function primary(): MathType {
    const token = take()
    if (token === '(') {
      const type = binary()
      take(')')
      return type
    }
    if (token === '[') {
      const types = list(']')
      if (new Set(types).size > 1) throw new Error('an array mixes time series and scalars')
      return 'array'
    }
    if (token === '-') return primary()
    if (/^\d/.test(token)) return 'scalar'
    if (peek() === '(') return call(token)
    if (!ids.includes(token)) throw new Error(`${token} is no metric of this alarm`)
    return 'time series'
  }

  function call(name: string): MathType {
    take('(')
    const types = list(')')
    const [first = 'scalar'] = types
    if (name === 'IF') {
      if (types.length !== 3) throw new Error('IF takes three values')
      return types.includes('time series') ? 'time series' : 'scalar'
    }
    if (name === 'FILL') {
      if (first !== 'time series' || types[1] !== 'scalar')
        throw new Error('FILL takes a time series and a number')
      return first
    }
    if (types.length !== 1) throw new Error(`${name} takes one value`)
    if (aggregates.has(name)) return first === 'array' ? 'time series' : 'scalar'
    if (keepingType.has(name)) return first
    throw new Error(`${name} is no function that is known here`)
  }

  /** Parses operators without precedence, because their order does not change the type of the result. */
  function binary(): MathType {
    const types = [primary()]
    while (/^([-+*/^<>]|[<>=!]=|&&|\|\|)$/.test(peek() ?? '')) {
      take()
      types.push(primary())
    }
    if (types.includes('array') && types.length > 1) return 'array'
    return types.find((type) => type !== 'scalar') ?? 'scalar'
  }

  const type = binary()
  if (tokens.length > 0) throw new Error(`${tokens.join(' ')} stands behind the end`)
  return type
}

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
