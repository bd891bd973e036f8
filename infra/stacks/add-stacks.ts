import { type App, Tags } from 'aws-cdk-lib'
import { type Config, deploymentRegion } from '../config.ts'
import { tagsOf } from '../names.ts'
import { ApiStack } from './api-stack.ts'
import { DataStack } from './data-stack.ts'
import { IntakeStack } from './intake-stack.ts'
import { ObservabilityStack } from './observability-stack.ts'
import { StandbyStack, standbyStackName } from './standby-stack.ts'

/**
 * Adds the stacks of a stage to a CDK app. Bundle the functions and the authorization page first. `region` is
 * needed only for an edge (CloudFront) or a standby. Default: the region of the CDK command.
 */
export async function addStacks(
  app: App,
  config: Config,
  region = deploymentRegion(config, process.env['CDK_DEFAULT_REGION']),
): Promise<void> {
  const name = (part: string) => `account-service-${config.stage}-${part}`
  const tags = tagsOf(config.stage)
  // With a standby, the table has a replica. For this, CDK must know the regions of all stacks that use
  // the table.
  const common = { config, tags, ...(config.standby ? { env: { region } } : {}) }
  const data = new DataStack(app, name('data'), { ...common, terminationProtection: config.protectData })
  // There is no standby after a failover: the stage itself then runs in the standby region.
  if (config.standby && !config.failover)
    new StandbyStack(app, standbyStackName(config), {
      ...common,
      env: { region: config.standby.region },
      terminationProtection: config.protectData,
      primary: { stackName: data.stackName, region },
    }).addStackDependency(data)
  const intake = new IntakeStack(app, name('intake'), { ...common, data })
  if (config.auditTrail) {
    const { AuditTrailStack } = await import('./audit-trail-stack.ts')
    const { protectData: terminationProtection } = config
    new AuditTrailStack(app, name('audit-trail'), { ...common, terminationProtection, intake })
  }
  // CDK's CloudFront constructs load slowly, so only a stage that uses CloudFront imports them.
  const hasPage = config.stage !== 'local' && config.authUrl === undefined
  const stacks = hasPage ? await import('./authorization-page-stacks.ts') : undefined
  const page = stacks && new stacks.AuthorizationPageStack(app, name('authorization-page'), common)
  const edge = config.edge && { ...(await importEdge()), options: config.edge }
  const firewall =
    edge &&
    new edge.EdgeStack(app, name(`edge-${region}`), {
      ...common,
      options: edge.options,
      deploymentRegion: region,
    })
  const api = new ApiStack(app, name('api'), {
    ...common,
    resources: intake.resources,
    page: resolvePage(config, page?.origin),
    addEdge: firewall
      ? (scope, api) =>
          new edge.Edge(scope, 'Edge', {
            config,
            api,
            secretNumber: edge.options.secretNumber,
            webAclArn: firewall.webAclArn,
          })
      : undefined,
  })
  if (firewall) api.addStackDependency(firewall)
  if (page)
    new stacks.AuthorizationPageContentStack(app, name('authorization-page-content'), {
      ...common,
      page,
      baseUrl: api.baseUrl,
    })
  if (config.alarms) new ObservabilityStack(app, name('observability'), { ...common, data, intake, api })
  for (const [key, value] of Object.entries(tags)) Tags.of(app).add(key, value)
}

const importEdge = async () => ({
  ...(await import('./edge-stack.ts')),
  ...(await import('../constructs/edge.ts')),
})

/** Origin of the authorization page on the local stack (`npm start`). */
const localOrigin = 'http://127.0.0.1:3001'

/**
 * Returns the URLs of the authorization page and of its sign-out, and the origins that may call the API
 * (CORS). The page is the configured one, else the deployed one, else the local stack's. The page's origin
 * may always call.
 */
export function resolvePage(
  config: Config,
  deployedOrigin: string | undefined,
): { authUrl: string; signOutUrl: string | undefined; corsOrigins: string[] } {
  const origin =
    config.authUrl === undefined ? (deployedOrigin ?? localOrigin) : new URL(config.authUrl).origin
  return {
    authUrl: config.authUrl ?? `${origin}/`,
    signOutUrl: config.authUrl === undefined ? `${origin}/sign-out` : config.signOutUrl,
    corsOrigins: [...new Set([origin, ...config.corsOrigins])],
  }
}
