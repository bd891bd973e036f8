import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { acknowledgeRules } from './acknowledged-rules.ts'
import { addStacks } from './add-stacks.ts'
import { bundleAuthorizationPage } from '../bundle/page.ts'
import { bundleFunctions } from '../bundle/functions.ts'
import { chooseStage, ConfigError, deploymentRegion } from '../config.ts'

const app = new App()
const { config, region } = refuseWrongConfig(() => {
  const config = chooseStage((name) => app.node.tryGetContext(name))
  return { config, region: deploymentRegion(config, process.env['CDK_DEFAULT_REGION']) }
})
await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
await addStacks(app, config, region)
// Synthesis fails on every cdk-nag finding that is not acknowledged, and on findings of AWS's validator,
// which cdk.json switches on.
acknowledgeRules(app)
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))

/** Ends the process with only the message of a configuration error: a stack trace would hide the message. */
function refuseWrongConfig<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
