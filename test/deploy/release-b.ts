// A later release of the service, for tests of deployments: synthesize or deploy it over the repository's own
// release with `npx cdk deploy --all -c stage=dev --app "node test/deploy/release-b.ts"`.
import { cpSync } from 'node:fs'
import { App } from 'aws-cdk-lib'
import { bundleAuthorizationPage } from '../../infra/bundle/page.ts'
import { bundleDirectory, bundleFunctions } from '../../infra/bundle/functions.ts'
import { chooseStage } from '../../infra/config.ts'
import { events } from '../../infra/events.ts'
import { routes } from '../../infra/routes.ts'
import { addStacks } from '../../infra/stacks/add-stacks.ts'

/** What release B lacks, and what it has under another name. No flow of test/deploy uses any of it. */
export const changes = {
  removedPath: '/dashboard/earnings',
  removedEvent: 'traffic.reported',
  renamedPath: { from: '/deposit/records', to: '/deposit/list' },
  renamedEvent: { from: 'device.deactivated', to: 'device.retired' },
}

/**
 * Turns the routes and events of this process into those of release B. Call it after bundling and before
 * adding the stacks: a renamed function runs a copy of the old one's bundle.
 */
export function changeRelease(): void {
  const { removedPath, removedEvent, renamedPath, renamedEvent } = changes
  routes.splice(find(routes, ({ path }) => path === removedPath).position, 1)
  events.splice(find(events, ({ detailType }) => detailType === removedEvent).position, 1)
  const route = find(routes, ({ path }) => path === renamedPath.from).row
  const entry = renamedPath.to.slice(1)
  copyBundle(route.entry, entry)
  Object.assign(route, { path: renamedPath.to, entry })
  const event = find(events, ({ detailType }) => detailType === renamedEvent.from).row
  copyBundle(`intake/${renamedEvent.from}`, `intake/${renamedEvent.to}`)
  Object.assign(event, { detailType: renamedEvent.to })
}

function find<Row>(rows: Row[], matches: (row: Row) => boolean): { row: Row; position: number } {
  const position = rows.findIndex(matches)
  const row = rows[position]
  if (row === undefined) throw new Error('release B changes a route or an event that is gone')
  return { row, position }
}

const copyBundle = (from: string, to: string) =>
  cpSync(bundleDirectory(from), bundleDirectory(to), { recursive: true })

if (import.meta.main) {
  await Promise.all([bundleFunctions(), bundleAuthorizationPage()])
  changeRelease()
  const app = new App()
  await addStacks(
    app,
    chooseStage((name) => app.node.tryGetContext(name)),
  )
}
