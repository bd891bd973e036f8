import { StartupError } from '../startup-error.ts'
import { asList, asText, isProperties } from './values.ts'

interface ConditionContext {
  /** Whether the condition of this name holds. */
  named: (name: string) => boolean
  resolve: (value: unknown) => unknown
  where: string
}

/** Whether a condition of a template's `Conditions` holds. */
export function evaluateCondition(condition: unknown, context: ConditionContext): boolean {
  const [name, ...others] = isProperties(condition) ? Object.keys(condition) : []
  if (!isProperties(condition) || name === undefined || others.length > 0)
    throw new StartupError(`${context.where} is not a condition`)
  const operands = () => asList(condition[name], context.where)
  const holds = (operand: unknown) => evaluateCondition(operand, context)
  switch (name) {
    case 'Fn::Equals': {
      const [left, right] = operands().map((operand) => context.resolve(operand))
      return left === right
    }
    case 'Fn::And':
      return operands().every(holds)
    case 'Fn::Or':
      return operands().some(holds)
    case 'Fn::Not':
      return !operands().every(holds)
    case 'Condition':
      return context.named(asText(condition[name], context.where))
    default:
      throw new StartupError(`${context.where} uses ${name}, which the local stack does not know`)
  }
}
