/** Values of the metrics of an expression in one period, by id; undefined for a metric without one. */
export type PeriodValues = (id: string) => number | undefined

/** A compiled expression: its type, and its value in a period; undefined where a value is missing. */
export interface MetricMath {
  type: 'scalar' | 'time series'
  compute: (values: PeriodValues) => number | undefined
}

type Operator = (left: number, right: number) => number

/** Operators by precedence, the weakest first. A comparison gives 1 or 0. */
const operators: Record<string, Operator>[] = [
  {
    '==': (left, right) => Number(left === right),
    '!=': (left, right) => Number(left !== right),
    '<=': (left, right) => Number(left <= right),
    '>=': (left, right) => Number(left >= right),
    '<': (left, right) => Number(left < right),
    '>': (left, right) => Number(left > right),
  },
  { '+': (left, right) => left + right, '-': (left, right) => left - right },
  { '*': (left, right) => left * right, '/': (left, right) => left / right },
]

/** Functions by name, with the number of their parameters. */
const functions: Record<string, { arity: number; make: (parameters: MetricMath[]) => MetricMath }> = {
  IF: {
    arity: 3,
    make: ([condition, yes, no]) => ({
      type: typeOf([condition, yes, no]),
      compute(values) {
        const holds = condition?.compute(values)
        return holds === undefined ? undefined : (holds === 0 ? no : yes)?.compute(values)
      },
    }),
  },
  FILL: {
    arity: 2,
    make([series, filler]) {
      if (series?.type !== 'time series' || filler?.type !== 'scalar')
        throw new Error('FILL takes a time series and a number')
      return { type: 'time series', compute: (values) => series.compute(values) ?? filler.compute(values) }
    },
  },
}

const typeOf = (parts: (MetricMath | undefined)[]): MetricMath['type'] =>
  parts.some((part) => part?.type === 'time series') ? 'time series' : 'scalar'

/**
 * Compiles a metric math expression over metrics with these ids (CloudWatch User Guide: metric math syntax
 * and functions). Throws for what CloudWatch rejects, and for what is not known here: anything but numbers,
 * arithmetic, comparisons, IF and FILL.
 */
export function compileMetricMath(expression: string, ids: readonly string[]): MetricMath {
  const tokens = expression.match(/\d+(\.\d+)?|\w+|[<>=!]=|\S/g) ?? []
  const take = (expected?: string): string => {
    const token = tokens.shift()
    if (token === undefined) throw new Error(`${expression} ends too early`)
    if (expected !== undefined && token !== expected) throw new Error(`${token} instead of ${expected}`)
    return token
  }

  const parse = (precedence = 0): MetricMath => {
    const known = operators[precedence]
    if (known === undefined) return parseOperand()
    let left = parse(precedence + 1)
    for (let apply = known[tokens[0] ?? '']; apply !== undefined; apply = known[tokens[0] ?? '']) {
      take()
      left = combine(left, parse(precedence + 1), apply)
    }
    return left
  }

  function parseOperand(): MetricMath {
    const token = take()
    if (token === '(') {
      const inner = parse()
      take(')')
      return inner
    }
    if (/^\d/.test(token)) return { type: 'scalar', compute: () => Number(token) }
    if (tokens[0] === '(') return call(token)
    if (!ids.includes(token)) throw new Error(`${token} is no metric of this alarm`)
    return { type: 'time series', compute: (values) => values(token) }
  }

  function call(name: string): MetricMath {
    const called = functions[name]
    if (called === undefined) throw new Error(`${name} is no function that is known here`)
    take('(')
    return called.make(parseList(called.arity))
  }

  /** Parses this many expressions, separated by commas, and the parenthesis after them. */
  const parseList = (length: number): MetricMath[] =>
    Array.from({ length }, (_, index) => {
      const parsed = parse()
      take(index === length - 1 ? ')' : ',')
      return parsed
    })

  const parsed = parse()
  if (tokens.length > 0) throw new Error(`${tokens.join(' ')} stands behind the end`)
  return parsed
}

const combine = (left: MetricMath, right: MetricMath, apply: Operator): MetricMath => ({
  type: typeOf([left, right]),
  compute(values) {
    const [a, b] = [left.compute(values), right.compute(values)]
    if (a === undefined || b === undefined) return undefined
    const result = apply(a, b)
    // CloudWatch has no value where an expression divides by zero.
    return Number.isFinite(result) ? result : undefined
  },
})
