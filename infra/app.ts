import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { acknowledgeRules } from './acknowledged-rules.ts'
import { bundleAuthorizationPage } from './bundle-authorization-page.ts'
import { bundleFunctions } from './bundle-functions.ts'
import { chooseStage } from './choose-stage.ts'
import { addStacks } from './add-stacks.ts'

await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
const app = new App()
await addStacks(
  app,
  chooseStage((name) => app.node.tryGetContext(name)),
)
// Synthesis fails on what AWS's own validator (switched on in cdk.json) and these rules find.
acknowledgeRules(app)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
