import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { acknowledgeRules } from './acknowledged-rules.ts'
import { addStacks } from './add-stacks.ts'
import { bundleAuthorizationPage } from '../bundle-authorization-page.ts'
import { bundleFunctions } from '../bundle-functions.ts'
import { chooseStage } from '../config.ts'

await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
const app = new App()
await addStacks(
  app,
  chooseStage((name) => app.node.tryGetContext(name)),
)
// Synthesis fails on every other cdk-nag finding, and on findings of AWS's validator, which cdk.json switches
// on.
acknowledgeRules(app)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
