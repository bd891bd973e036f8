import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Flags whose recommended value this app rejects; infra/DECISIONS.md says why. */
const decided = { '@aws-cdk/core:defaultCrossStackReferences': 'strong' }

const require = createRequire(import.meta.url)
const recommended = require('aws-cdk-lib/recommended-feature-flags.json') as Record<string, unknown>
const cdkJson = readFileSync(join(import.meta.dirname, '../../../cdk.json'), 'utf8')
const { context } = JSON.parse(cdkJson) as { context: Record<string, unknown> }

it('cdk.json sets every feature flag as a new CDK project would, except those that DECISIONS.md explains', () => {
  const flags = Object.entries(context).filter(([name]) => name.startsWith('@aws-cdk'))
  expect(Object.fromEntries(flags)).toEqual({ ...recommended, ...decided })
})
