import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'

type Properties = Record<string, unknown>

/** The sections of a CloudFormation template, with unresolved intrinsic functions. */
interface Template {
  Resources: Record<string, { Type: string; Properties?: Properties; Condition?: string }>
  Outputs: Record<string, { Value: unknown; Export?: { Name: string } }>
}

/** A synthesized stack with its template and file assets. */
export interface StackTemplate extends Template {
  name: string
  /** Absolute paths of file assets, keyed by the object key under which a deployment uploads the asset. */
  assetPaths: Record<string, string>
}

interface AssetManifest {
  files?: Record<string, { source: { path?: string }; destinations: Record<string, { objectKey: string }> }>
}

/** Reads every stack of a cloud assembly, nested stages included, dependencies first. */
export const readStackTemplates = (assembly: CloudAssembly): StackTemplate[] =>
  assembly.stacksRecursively.map(({ stackName, template, dependencies }) => ({
    name: stackName,
    ...{ Resources: {}, Outputs: {} },
    ...(template as Partial<Template>),
    assetPaths: Object.fromEntries(dependencies.flatMap(readAssetPaths)),
  }))

function readAssetPaths(artifact: object): [objectKey: string, path: string][] {
  // Recognize asset manifests by file name, not by class: each copy of the CDK library has its own class.
  const file = 'file' in artifact && typeof artifact.file === 'string' ? artifact.file : ''
  if (!file.endsWith('.assets.json')) return []
  const { files = {} } = JSON.parse(readFileSync(file, 'utf8')) as AssetManifest
  return Object.values(files).flatMap(({ source: { path }, destinations }) =>
    Object.values(destinations).flatMap(({ objectKey }): [string, string][] =>
      path === undefined ? [] : [[objectKey, resolve(dirname(file), path)]],
    ),
  )
}
