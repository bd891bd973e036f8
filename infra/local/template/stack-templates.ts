import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import * as v from 'valibot'

const Section = v.optional(v.record(v.string(), v.unknown()), {})

const Template = v.object({
  Resources: v.optional(
    v.record(
      v.string(),
      v.object({ Type: v.string(), Properties: Section, Condition: v.optional(v.string()) }),
    ),
    {},
  ),
  Outputs: v.optional(
    v.record(
      v.string(),
      v.object({ Value: v.unknown(), Export: v.optional(v.object({ Name: v.string() })) }),
    ),
    {},
  ),
  Parameters: v.optional(v.record(v.string(), v.object({ Default: v.optional(v.unknown()) })), {}),
  Conditions: Section,
  Mappings: Section,
})

const AssetManifest = v.object({
  files: v.optional(
    v.record(
      v.string(),
      v.object({
        source: v.object({ path: v.optional(v.string()) }),
        destinations: v.record(v.string(), v.object({ objectKey: v.string() })),
      }),
    ),
    {},
  ),
})

/** One synthesized stack: the sections of its template, unresolved, and where its assets are. */
export interface StackTemplate extends v.InferOutput<typeof Template> {
  name: string
  /** Absolute path of a file asset by the object key under which a deployment would upload it. */
  assetPaths: Map<string, string>
}

/** Reads every stack of a cloud assembly, those of nested stages included, in the order of their dependencies. */
export const readStackTemplates = (assembly: CloudAssembly): StackTemplate[] =>
  assembly.stacksRecursively.map(({ stackName, template, dependencies }) => ({
    name: stackName,
    ...v.parse(Template, template),
    assetPaths: new Map(dependencies.flatMap(assetManifestFile).flatMap(readAssetPaths)),
  }))

// By its file name rather than its class: the artifact classes differ between copies of the library.
const assetManifestFile = (artifact: object): string[] =>
  'file' in artifact && typeof artifact.file === 'string' && artifact.file.endsWith('.assets.json')
    ? [artifact.file]
    : []

function readAssetPaths(manifestFile: string): [objectKey: string, path: string][] {
  const { files } = v.parse(AssetManifest, JSON.parse(readFileSync(manifestFile, 'utf8')))
  return Object.values(files).flatMap(({ source: { path }, destinations }) =>
    path === undefined
      ? []
      : Object.values(destinations).map(({ objectKey }): [string, string] => [
          objectKey,
          resolve(dirname(manifestFile), path),
        ]),
  )
}
