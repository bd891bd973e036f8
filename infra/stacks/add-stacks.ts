import { type App, Tags } from 'aws-cdk-lib'
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Construct } from 'constructs'
import { type Config, deploymentRegion } from '../config.ts'
import type { EdgeOptions } from '../knob-schemas.ts'
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
  const tags = tagsOf(config.stage)
  // With a standby, the table has a replica. For this, CDK must know the regions of all stacks that use
  // the table.
  const common = { config, tags, ...(config.standby ? { env: { region } } : {}) }
  const stage: Stage = {
    app,
    config,
    region,
    common,
    name: (part) => `account-service-${config.stage}-${part}`,
  }
  const { name } = stage
  const data = new DataStack(app, name('data'), { ...common, terminationProtection: config.protectData })
  addStandby(stage, data)
  const intake = new IntakeStack(app, name('intake'), { ...common, data })
  if (config.auditTrail) await addAuditTrail(stage, intake)
  const page = await addPage(stage)
  const edge = config.edge ? await addEdge(stage, config.edge) : undefined
  const api = new ApiStack(app, name('api'), {
    ...common,
    resources: intake.resources,
    page: resolvePage(config, page?.origin),
    addEdge: edge?.add,
  })
  if (edge) api.addStackDependency(edge.firewall)
  page?.addContent(api.baseUrl)
  if (config.alarms) new ObservabilityStack(app, name('observability'), { ...common, data, intake, api })
  for (const [key, value] of Object.entries(tags)) Tags.of(app).add(key, value)
}

/** What the stacks of a stage have in common. */
interface Stage {
  app: App
  config: Config
  region: string
  /** The properties of each stack. */
  common: { config: Config; tags: Record<string, string>; env?: { region: string } }
  /** Name of the stack that has this part of the stage. */
  name: (part: string) => string
}

/** Adds the standby. After a failover there is none: the stage itself then runs in the standby region. */
function addStandby({ app, config, region, common }: Stage, data: DataStack): void {
  const { standby, failover, protectData: terminationProtection } = config
  if (standby === undefined || failover) return
  new StandbyStack(app, standbyStackName(config), {
    ...common,
    env: { region: standby.region },
    terminationProtection,
    primary: { stackName: data.stackName, region },
  }).addStackDependency(data)
}

async function addAuditTrail({ app, config, common, name }: Stage, intake: IntakeStack): Promise<void> {
  const { AuditTrailStack } = await import('./audit-trail-stack.ts')
  const { protectData: terminationProtection } = config
  new AuditTrailStack(app, name('audit-trail'), { ...common, terminationProtection, intake })
}

/**
 * Adds the authorization page, unless the stage has it elsewhere. CDK's CloudFront constructs load slowly, so
 * only a stage that uses CloudFront imports them.
 */
async function addPage({ app, config, common, name }: Stage) {
  if (config.stage === 'local' || config.authUrl !== undefined) return undefined
  const stacks = await import('./authorization-page-stacks.ts')
  const page = new stacks.AuthorizationPageStack(app, name('authorization-page'), common)
  const addContent = (baseUrl: string) => {
    const properties = { ...common, page, baseUrl }
    new stacks.AuthorizationPageContentStack(app, name('authorization-page-content'), properties)
  }
  return { origin: page.origin, addContent }
}

/** Adds the firewall of the edge. `add` puts the edge itself before an API. */
async function addEdge({ app, config, region, common, name }: Stage, options: EdgeOptions) {
  const { EdgeStack } = await import('./edge-stack.ts')
  const { Edge } = await import('../constructs/edge.ts')
  const properties = { ...common, options, deploymentRegion: region }
  const firewall = new EdgeStack(app, name(`edge-${region}`), properties)
  const { secretNumber } = options
  const add = (scope: Construct, api: HttpApi) =>
    new Edge(scope, 'Edge', { config, api, secretNumber, webAclArn: firewall.webAclArn })
  return { firewall, add }
}

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
