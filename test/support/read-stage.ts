import { readConfig } from '../../infra/config.ts'
import { type AccessRequest, compileSession, type FindDenial } from '../../infra/local/aws/iam/authorize.ts'
import { compilePolicies } from '../../infra/local/aws/iam/policy.ts'
import type { FunctionModel, KeyModel, StackModel } from '../../infra/local/model.ts'
import {
  readBuses,
  readKeys,
  readRules,
  readTables,
} from '../../infra/local/template/read-data-and-events.ts'
import { readFunctions, readRoles } from '../../infra/local/template/read-functions.ts'
import { TemplateReader } from '../../infra/local/template/reader.ts'
import { signingKeyPolicy } from '../../infra/signing-key-policy.ts'
import { configured } from './configured-stage.ts'
import { newDirectory } from './new-directory.ts'
import { synthesizeWithoutBundles } from './synthesize-from-bundles.ts'

export const accountId = '123456789012'
const region = 'eu-central-1'

/** What a stage's templates say about permissions, with references replaced by names and ARNs. */
export interface StagePolicies {
  functions: FunctionModel[]
  tables: StackModel['tables']
  buses: StackModel['buses']
  rules: StackModel['rules']
  keys: Record<'MAC' | 'TOTP' | 'EVIDENCE', KeyModel>
  /** Finds out why IAM denies the requests of a function. `name` is its name without the stage's prefix. */
  denialsOf: (name: string) => FindDenial
  /** Returns why IAM denies a request of the auditor's role; undefined if IAM allows it. */
  denialsOfAuditor: FindDenial
}

/** Synthesizes a stage and reads its policies. No function is bundled. */
export async function readStage(stage: string): Promise<StagePolicies> {
  const templates = await synthesizeWithoutBundles(newDirectory(), readConfig({ ...configured, stage }))
  const addresses = { region, accountId, apiUrl: 'http://127.0.0.1:1', awsUrl: 'http://127.0.0.1:1' }
  const reader = new TemplateReader(templates, addresses)
  const roles = readRoles(reader)
  const functions = readFunctions(reader, roles)
  const keys = readKeys(reader)
  const keyOf = (usage: string): KeyModel => {
    const found = keys.find(({ keyUsage }) => keyUsage === usage)
    if (found === undefined) throw new Error(`the stage has no key to ${usage}`)
    return found
  }
  const auditor = roles.find(({ assumable }) => assumable)
  if (auditor === undefined) throw new Error('the stage has no role that somebody may assume')
  return {
    functions,
    denialsOfAuditor: compileSession(
      auditor.arn,
      { ...auditor, roleArn: auditor.arn, roleTags: auditor.tags, origin: 'the auditor' },
      { accountId } as StackModel,
    ),
    tables: readTables(reader),
    buses: readBuses(reader),
    rules: readRules(reader),
    keys: {
      MAC: keyOf('GENERATE_VERIFY_MAC'),
      TOTP: keyOf('ENCRYPT_DECRYPT'),
      EVIDENCE: keyOf('SIGN_VERIFY'),
    },
    denialsOf(name) {
      const found = functions.find((item) => item.name.endsWith(name))
      if (found === undefined) throw new Error(`there is no function ${name}`)
      return compileSession(found.arn, { ...found, origin: name }, { accountId } as StackModel)
    },
  }
}

/** The key policy that KMS sets by default: the account's IAM policies decide (KMS: key policies). */
const delegation = {
  Statement: [
    {
      Effect: 'Allow' as const,
      Principal: { AWS: `arn:aws:iam::${accountId}:root` },
      Action: 'kms:*',
      Resource: '*',
    },
  ],
}

/** Builds an IAM request for a KMS action on a key, with condition keys for its spec, usage and tags. */
export const onKey = (
  action: string,
  { arn, keySpec, keyUsage, keyPolicy = delegation, tags }: KeyModel,
  context: AccessRequest['context'] = {},
): AccessRequest => ({
  action: `kms:${action}`,
  resource: arn,
  context: {
    'kms:KeySpec': keySpec,
    'kms:KeyUsage': keyUsage,
    ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [`aws:ResourceTag/${name}`, value])),
    ...context,
  },
  resourcePolicy: { policy: compilePolicies([keyPolicy], arn), role: 'required' },
})

/** Makes a KeyModel for an RSA signing key with these tags. */
export const signingKey = (tags: Record<string, string>): KeyModel => ({
  keyId: '11111111-2222-3333-4444-555555555555',
  arn: `arn:aws:kms:${region}:${accountId}:key/11111111-2222-3333-4444-555555555555`,
  keySpec: 'RSA_2048',
  keyUsage: 'SIGN_VERIFY',
  description: '',
  keyPolicy: undefined,
  tags,
})

/** Makes a KeyModel for a stage's signing key, with the key policy that the rotation gives such keys. */
export const keyOf = (stage: string, breakGlass: readonly string[] = []): KeyModel => ({
  ...signingKey({ 'signing-key': `account-service-${stage}` }),
  keyPolicy: signingKeyPolicy({ partition: 'aws', account: accountId, region }, { stage, breakGlass }),
})
