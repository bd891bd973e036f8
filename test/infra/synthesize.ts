import { App, Validations } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import type { Stack } from 'aws-cdk-lib'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { acknowledgeRules } from '../../infra/acknowledged-rules.ts'
import { readConfig } from '../../infra/config.ts'
import { addStacks } from '../../infra/stage.ts'

/** A CloudFormation resource as synthesized. */
export interface Resource {
  Type: string
  Properties: Record<string, unknown>
  DeletionPolicy?: string
}

interface Written {
  Resources: Record<string, Resource>
  Outputs?: Record<string, { Value: unknown }>
}

/** A stage's stacks by the last part of their names (`data`, `api`, …). */
export type Stacks = Map<
  string,
  { stack: Stack; resources: Written['Resources']; outputs: NonNullable<Written['Outputs']> }
>

/**
 * Synthesizes a stage as `cdk synth` does, with AWS's validator and the rule packs, and throws on what they find.
 * The functions must have been bundled. `change` may break something before the checks run; `values` are the stage's entry
 * of cdk.json.
 */
export async function synthesize(
  stage: string,
  change: (app: App) => void = () => undefined,
  values: Record<string, unknown> = {},
): Promise<Stacks> {
  const app = new App({
    outdir: mkdtempSync(join(tmpdir(), 'synth-')),
    context: {
      // Nothing is deployed from here: no need to copy the bundles.
      'aws:cdk:disable-asset-staging': true,
      '@aws-cdk/core:validateAgainstDefaultRules': true,
      '@aws-cdk/core:defaultCrossStackReferences': 'strong',
    },
  })
  await addStacks(app, readConfig({ ...values, stage }))
  change(app)
  acknowledgeRules(app)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
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

/** Every resource of a type, with the stack it is in and its logical id. */
export const ofType = (stacks: Stacks, type: string): { stack: string; id: string; resource: Resource }[] =>
  [...stacks].flatMap(([stack, { resources }]) =>
    Object.entries(resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([id, resource]) => ({ stack, id, resource })),
  )
