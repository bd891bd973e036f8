import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import type { FunctionModel, StackModel } from '../../model.ts'
import { AwsError, jsonAnswer, parseJson } from '../wire/http-messages.ts'
import type { Service } from '../wire/operation.ts'

/** What a version of a function keeps. */
type Version = Pick<FunctionModel, 'codeDirectory' | 'handler' | 'environment'>

/** Name of the alias that every function has, and all its calls go through. */
const aliasName = 'live'

/** Opens the versions of the stack's functions. `reload` makes further calls run what the model says. */
export function openVersions({ functions }: StackModel, reload: (functionLogicalId: string) => void) {
  const published = new Map(functions.map((model) => [model.name, [versionOf(model)]]))
  const list = (name: string): Version[] => published.get(name) ?? []
  /** Lets a function run one of its versions, numbered from 1. Returns whether there is such a version. */
  const use = (name: string, number: number): boolean => {
    const model = functions.find((one) => one.name === name)
    const version = list(name)[number - 1]
    if (model === undefined || version === undefined) return false
    Object.assign(model, version)
    reload(model.logicalId)
    return true
  }
  return {
    list,
    use,
    /** Publishes these functions, and runs them from now on, as the deployment of another template does. */
    deploy: (deployed: readonly FunctionModel[]): void => {
      for (const model of deployed) {
        const versions = list(model.name)
        if (isDeepStrictEqual(versions.at(-1), versionOf(model))) continue
        versions.push(versionOf(model))
        use(model.name, versions.length)
      }
    },
  }
}

const versionOf = ({ codeDirectory, handler, environment }: FunctionModel): Version => ({
  codeDirectory,
  handler,
  environment,
})

const UpdateAliasInput = v.object({ FunctionVersion: v.pipe(v.string(), v.regex(/^\d+$/)) })

/** The Lambda operations ListVersionsByFunction, and UpdateAlias to move all calls to another version. */
export function versionService(
  { region, accountId }: StackModel,
  versions: ReturnType<typeof openVersions>,
): Service {
  return ({ method, path, body }) => {
    const [, name = '', rest = ''] = /^\/2015-03-31\/functions\/([\w-]+)\/(.+)$/.exec(path) ?? []
    const resource = `arn:aws:lambda:${region}:${accountId}:function:${name}`
    const find = () => {
      const found = versions.list(name)
      if (found.length > 0) return found
      throw new AwsError('ResourceNotFoundException', `Function not found: ${resource}`, { status: 404 })
    }
    if (method === 'GET' && rest === 'versions')
      return {
        access: () => [{ action: 'lambda:ListVersionsByFunction', resource }],
        run: () =>
          jsonAnswer('application/json', {
            Versions: ['$LATEST', ...find().map((_, i) => String(i + 1))].map((Version) => ({
              FunctionName: name,
              Version,
            })),
          }),
      }
    if (method !== 'PUT' || rest !== `aliases/${aliasName}`) return undefined
    return {
      access: () => [{ action: 'lambda:UpdateAlias', resource }],
      run: () => {
        find()
        const input = v.safeParse(UpdateAliasInput, parseJson(body))
        if (!input.success)
          throw new AwsError('InvalidParameterValueException', 'Only FunctionVersion can be changed.')
        const { FunctionVersion } = input.output
        if (versions.use(name, Number(FunctionVersion)))
          return jsonAnswer('application/json', { Name: aliasName, FunctionVersion })
        throw new AwsError('ResourceNotFoundException', `There is no version ${FunctionVersion}.`, {
          status: 404,
        })
      },
    }
  }
}
