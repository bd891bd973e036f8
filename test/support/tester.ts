import { serviceTag, stageTagName } from '../../infra/names.ts'
import { accessKeyIdOf } from '../../infra/local/aws/iam/callers.ts'
import type { Synthesize } from '../../infra/local/stage.ts'

const RoleName = 'tester'
const allow = (statement: object) => ({ Statement: [{ Effect: 'Allow', ...statement }] })

/** The role with which tests call AWS. It allows everything, and has the tags of the service's own roles. */
const tester = {
  Type: 'AWS::IAM::Role',
  Properties: {
    RoleName,
    AssumeRolePolicyDocument: allow({ Principal: { AWS: '*' }, Action: 'sts:AssumeRole' }),
    Policies: [{ PolicyDocument: allow({ Action: '*', Resource: '*' }) }],
    Tags: [
      { Key: serviceTag.name, Value: serviceTag.value },
      { Key: stageTagName, Value: 'local' },
    ],
  },
}

/** The access key of the tests' role, on every local stack. */
export const testerCredentials = {
  AWS_ACCESS_KEY_ID: accessKeyIdOf(`arn:aws:iam::000000000000:role/${RoleName}`),
  AWS_SECRET_ACCESS_KEY: 'any',
}

/**
 * Adds the role of the tests to a stage. Tests run shared code that sends events in the service's name. They
 * also read data that no function is allowed to read.
 */
export const withTester =
  (synthesize: Synthesize): Synthesize =>
  async (...options) => {
    const [first, ...others] = await synthesize(...options)
    return first === undefined
      ? []
      : [{ ...first, Resources: { ...first.Resources, Tester: tester } }, ...others]
  }
