import { beforeAll, expect, it, vi } from 'vitest'
import { routes } from '../infra/routes.ts'

const entries = [...new Set(routes.flatMap(({ entry, ...route }) => (route.public ? [] : [entry])))]

// Loads the functions anew, as Lambda does, because other test files of this process have loaded some.
beforeAll(() => void vi.resetModules())

it.each(entries)('%s warms up while Lambda loads it', async (entry) => {
  vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', 'on-demand')
  const { log } = await import('../shared/log.ts')
  const [info, warn] = [vi.spyOn(log, 'info'), vi.spyOn(log, 'warn')]
  await import(new URL(`../functions/${entry}.ts`, import.meta.url).href)
  expect(info.mock.calls.map(([message]) => message)).toEqual(['initialized'])
  expect(warn).not.toHaveBeenCalled()
})
