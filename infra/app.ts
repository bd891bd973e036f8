import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { acknowledgeRules } from './acknowledged-rules.ts'
import { bundleAuthorizationPage } from './bundle-page.ts'
import { bundleFunctions } from './bundle.ts'
import { readConfig } from './config.ts'
import { addStacks } from './stage.ts'

await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
const app = new App()
const stage = (app.node.tryGetContext('stage') as string | undefined) ?? 'dev'
const stages = (app.node.tryGetContext('stages') as Record<string, object> | undefined) ?? {}
await addStacks(app, readConfig({ ...stages[stage], stage }))
// Synthesis fails on what AWS's own validator (switched on in cdk.json) and these rules find.
acknowledgeRules(app)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
