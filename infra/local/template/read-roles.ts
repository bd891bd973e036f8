import { StartupError } from '../startup-error.ts'
import type { PolicyDocument, PolicyStatement, RoleModel } from '../model.ts'
import type { TemplateReader } from './template-reader.ts'
import { asList, asProperties, asTexts, isProperties } from './values.ts'

/** AWS's own policies that grant only what the local stack does for everyone: writing logs and traces. */
const harmlessManagedPolicies = [/\/AWSLambdaBasicExecutionRole$/, /\/AWSXRayDaemonWriteAccess$/]

/** Every policy document of every role, inline and attached, by the role's ARN. */
export function readRolePolicies(reader: TemplateReader): Map<string, PolicyDocument[]> {
  const roles = reader.ofType('AWS::IAM::Role')
  const policies = new Map(
    roles.map((role) => [
      role.attribute('Arn'),
      asList(role.properties.Policies, role.where('Policies')).map((policy) =>
        asPolicyDocument(asProperties(policy, role.where('Policies')).PolicyDocument, role.where('Policies')),
      ),
    ]),
  )
  const arnOf = new Map(roles.map((role) => [role.ref, role.attribute('Arn')]))
  for (const policy of reader.ofType('AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy')) {
    const document = asPolicyDocument(policy.properties.PolicyDocument, policy.where('PolicyDocument'))
    for (const roleName of asTexts(policy.properties.Roles, policy.where('Roles')))
      policies.get(arnOf.get(roleName) ?? '')?.push(document)
  }
  for (const role of roles) {
    const strange = asTexts(role.properties.ManagedPolicyArns, role.where('ManagedPolicyArns')).filter(
      (arn) => !harmlessManagedPolicies.some((harmless) => harmless.test(arn)),
    )
    if (strange.length > 0)
      throw new StartupError(`the local stack does not know what ${strange.join(', ')} of ${role.id} grants`)
  }
  return policies
}

/** The roles that principals of an account may take on, where those of functions and rules are AWS's to take. */
export const readAssumableRoles = (
  reader: TemplateReader,
  policies: Map<string, PolicyDocument[]>,
): RoleModel[] =>
  reader
    .ofType('AWS::IAM::Role')
    .filter(({ properties, where }) =>
      asPolicyDocument(properties.AssumeRolePolicyDocument, where('AssumeRolePolicyDocument')).Statement.some(
        ({ Principal: principal }) => isProperties(principal) && principal.AWS !== undefined,
      ),
    )
    .map(({ ref, attribute }) => {
      const arn = attribute('Arn')
      return { name: ref, arn, policies: policies.get(arn) ?? [] }
    })

/** A policy document as the template spells it; its statements are always a list. */
export function asPolicyDocument(value: unknown, where: string): PolicyDocument {
  const document = asProperties(value, where)
  const { Statement: statement } = document
  const statements: unknown[] = Array.isArray(statement) ? statement : [statement]
  return { ...document, Statement: statements as PolicyStatement[] }
}
