import { App, Validations } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { Stack } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import cdkJson from '../../../cdk.json' with { type: 'json' }
import { makeBundleDirectories } from '../../../infra/bundle/functions.ts'
import { acknowledgeRules } from '../../../infra/stacks/acknowledged-rules.ts'
import { readConfig } from '../../../infra/config.ts'
import { addStacks } from '../../../infra/stacks/add-stacks.ts'
import { configured } from '../../support/configured-stage.ts'
import { newDirectory } from '../../support/new-directory.ts'

/** A resource of a synthesized template. */
export interface Resource {
  Type: string
  Properties: Record<string, unknown>
  DeletionPolicy?: string
  UpdatePolicy?: unknown
  DependsOn?: string[]
}

interface Written {
  Resources: Record<string, Resource>
  Outputs?: Record<string, { Value: unknown; Export?: { Name: string } }>
}

/** The synthesized stacks of a stage, keyed by the last part of their names (`data`, `api`, …). */
export type Stacks = Map<
  string,
  { stack: Stack; resources: Written['Resources']; outputs: NonNullable<Written['Outputs']> }
>

/**
 * Options of a synthesis. `values` configures the stage. `change` changes the app, for example to break it.
 * `written` is a folder in dist/templates that receives the templates for cfn-lint (.ci/run).
 */
interface Variation {
  written?: string
  values?: Record<string, unknown>
  change?: (app: App) => void
}

const context = {
  // Assets are not copied, because tests deploy nothing.
  'aws:cdk:disable-asset-staging': true,
  ...(cdkJson as { context: object }).context,
}

/**
 * Synthesizes a stage as `cdk synth` does, and throws on findings of AWS's validator and of cdk-nag. The
 * functions must have been bundled before.
 */
export async function synthesize(
  stage: string,
  { values, change, written }: Variation = {},
): Promise<Stacks> {
  const outdir =
    written === undefined ? newDirectory() : join(import.meta.dirname, '../../../dist/templates', written)
  rmSync(outdir, { recursive: true, force: true })
  const app = new App({ outdir, context })
  await addStacks(app, readConfig({ ...configured, ...values, stage }))
  change?.(app)
  acknowledgeRules(app)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  return readStacks(app, stage)
}

const synthesized = new Map<string, Promise<Stacks>>()

/**
 * Synthesizes a stage without AWS's validator and cdk-nag, which take most of the time. A stage with
 * the same configuration is synthesized only once per process.
 */
export function synthesizeUnchecked(
  stage: string,
  { values }: Pick<Variation, 'values'> = {},
): Promise<Stacks> {
  const key = JSON.stringify([stage, values ?? {}], (_name, value: unknown) => value ?? null)
  const known = synthesized.get(key)
  if (known !== undefined) return known
  const making = synthesizeAnew(stage, values)
  synthesized.set(key, making)
  return making
}

async function synthesizeAnew(stage: string, values: Variation['values']): Promise<Stacks> {
  makeBundleDirectories()
  const app = new App({ outdir: newDirectory(), context, builtinCloudFormationValidation: false })
  await addStacks(app, readConfig({ ...configured, ...values, stage }))
  return readStacks(app, stage)
}

function readStacks(app: App, stage: string): Stacks {
  app.synth()
  const stacks = app.node.children.filter((child): child is Stack => 'templateOptions' in child)
  return new Map(
    stacks.map((stack) => {
      const template = Template.fromStack(stack).toJSON() as Written
      const name = stack.stackName.replace(`account-service-${stage}-`, '')
      return [name, { stack, resources: template.Resources, outputs: template.Outputs ?? {} }]
    }),
  )
}

/**
 * Lists every resource of a type, with its stack and its logical id. Throws if there is none: a test that
 * loops over no resources would check nothing.
 */
export function ofType(stacks: Stacks, type: string): { stack: string; id: string; resource: Resource }[] {
  const found = [...stacks].flatMap(([stack, { resources }]) =>
    Object.entries(resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, resource]) => ({ stack, id, resource })),
  )
  if (found.length === 0) throw new Error(`no stack has a resource of the type ${type}`)
  return found
}

/** The types of all resources of the stacks. */
export const typesIn = (stacks: Stacks): Set<string> =>
  new Set([...stacks.values()].flatMap(({ resources }) => Object.values(resources).map(({ Type }) => Type)))
