import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { FunctionModel, StackModel } from '../../model.ts'
import { AwsError, jsonAnswer, parseJson } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

/** What a version of a function keeps. */
type Version = Pick<FunctionModel, 'codeDirectory' | 'handler' | 'environment'>

/** Where an alias sends its calls: to a version, and a share of them to another one. */
interface Routing {
  version: string
  weights: Record<string, number>
}

/**
 * Opens the versions of the stack's functions with an alias. `reload` makes further calls run what the model
 * says.
 */
export function openVersions({ functions }: StackModel, reload: (functionLogicalId: string) => void) {
  const published = new Map<string, Version[]>()
  for (const model of functions) if (model.alias) published.set(model.name, [versionOf(model)])
  const list = (name: string): Version[] => published.get(name) ?? []
  const find = (name: string, number: string): Version | undefined => list(name)[Number(number) - 1]
  /** Changes where the alias of a function sends its calls. Returns whether it has such versions. */
  const route = (name: string, { version: number, weights }: Routing): boolean => {
    const model = functions.find((one) => one.name === name)
    const version = find(name, number)
    if (model?.alias === undefined || version === undefined) return false
    const alias = { name: model.alias.name, version: number }
    const [share] = Object.entries(weights).map(([other, weight]) => {
      const changed = find(name, other)
      return changed && { model: { ...model, ...changed, alias: { ...alias, version: other } }, weight }
    })
    if (share === undefined && Object.keys(weights).length > 0) return false
    Object.assign(model, version, { alias: { ...alias, additional: share } })
    reload(model.logicalId)
    return true
  }
  /** Publishes a version of a function, and returns its number. */
  const publish = (model: FunctionModel): string => {
    const versions = list(model.name)
    if (!isDeepStrictEqual(versions.at(-1), versionOf(model))) versions.push(versionOf(model))
    return String(versions.length)
  }
  const routingOf = (name: string): Routing => {
    const { version = '', additional } = functions.find((one) => one.name === name)?.alias ?? {}
    const { model, weight } = additional ?? {}
    return { version, weights: model === undefined ? {} : { [model.alias?.version ?? '']: weight ?? 0 } }
  }
  return {
    list,
    route,
    routingOf,
    publish,
    /**
     * Runs these functions from now on, in a new version if they have an alias, as the deployment of another
     * template does.
     */
    deploy: (deployed: readonly FunctionModel[]): void => {
      for (const changed of deployed) {
        const model = functions.find(({ name }) => name === changed.name)
        if (model?.alias !== undefined) {
          const version = publish(changed)
          if (!isDeepStrictEqual(routingOf(model.name), { version, weights: {} }))
            route(model.name, { version, weights: {} })
        } else if (model !== undefined && !isDeepStrictEqual(versionOf(model), versionOf(changed))) {
          Object.assign(model, versionOf(changed))
          reload(model.logicalId)
        }
      }
    },
  }
}

const versionOf = ({ codeDirectory, handler, environment }: FunctionModel): Version => ({
  codeDirectory,
  handler,
  environment,
})

const Weight = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const UpdateAliasInput = v.object({
  FunctionVersion: v.optional(v.pipe(v.string(), v.regex(/^\d+$/))),
  RoutingConfig: v.optional(
    v.object({
      // An alias has at most one other version (Lambda: alias routing configuration).
      AdditionalVersionWeights: v.optional(v.pipe(v.record(v.string(), Weight), v.maxEntries(1)), {}),
    }),
  ),
})

/** The Lambda operations ListVersionsByFunction, and UpdateAlias to move calls to other versions. */
export function versionService(
  { region, accountId, functions }: StackModel,
  versions: ReturnType<typeof openVersions>,
): Service {
  return ({ method, path, body }) => {
    const [, name = '', rest = ''] = /^\/2015-03-31\/functions\/([\w-]+)\/(.+)$/.exec(path) ?? []
    const resource = `arn:aws:lambda:${region}:${accountId}:function:${name}`
    const model = functions.find((one) => one.name === name)
    const refuse = (what: string) => {
      throw new AwsError('ResourceNotFoundException', what, { status: 404 })
    }
    if (method === 'GET' && rest === 'versions')
      return {
        access: () => [{ action: 'lambda:ListVersionsByFunction', resource }],
        run: () =>
          jsonAnswer('application/json', {
            Versions: (model ? ['$LATEST'] : refuse(`Function not found: ${resource}`))
              .concat(versions.list(name).map((_, i) => String(i + 1)))
              .map((Version) => ({ FunctionName: name, Version })),
          }),
      }
    const [, aliasName] = /^aliases\/([\w-]+)$/.exec(rest) ?? []
    if (method !== 'PUT' || aliasName === undefined) return undefined
    return {
      access: () => [{ action: 'lambda:UpdateAlias', resource }],
      run: () => {
        if (model?.alias?.name !== aliasName) return refuse(`Cannot find alias arn: ${resource}:${aliasName}`)
        const input = v.safeParse(UpdateAliasInput, parseJson(body))
        if (!input.success)
          throw new AwsError('InvalidParameterValueException', 'Only versions and one weight can be changed.')
        const { FunctionVersion, RoutingConfig } = input.output
        // What is not named stays as it is.
        const now = versions.routingOf(name)
        const version = FunctionVersion ?? now.version
        const weights = RoutingConfig?.AdditionalVersionWeights ?? now.weights
        if (!versions.route(name, { version, weights })) return refuse('There is no such version.')
        return jsonAnswer('application/json', {
          Name: aliasName,
          FunctionVersion: version,
          ...(Object.keys(weights).length > 0 && { RoutingConfig: { AdditionalVersionWeights: weights } }),
        })
      },
    }
  }
}
