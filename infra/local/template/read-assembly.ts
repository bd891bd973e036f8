import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import { asProperties, asText, isProperties, type Properties } from './values.ts'

/** One synthesized stack: its template, and where the directories of its assets lie. */
export interface StackTemplate {
  name: string
  resources: Record<string, TemplateResource>
  outputs: Properties
  parameters: Properties
  conditions: Properties
  mappings: Properties
  /** Absolute path of a file asset by the object key under which a deployment would upload it. */
  assetPaths: Map<string, string>
}

/** An entry of a template's `Resources`. */
export interface TemplateResource {
  type: string
  properties: Properties
  condition: string | undefined
}

/** Reads every stack of a cloud assembly, those of nested stages included, in the order of their dependencies. */
export function readStackTemplates(assembly: CloudAssembly): StackTemplate[] {
  return assembly.stacksRecursively.map((artifact) => {
    const template = asProperties(artifact.template, artifact.stackName)
    const section = (name: string) => asProperties(template[name], `${name} of ${artifact.stackName}`)
    const manifests = artifact.dependencies.flatMap((dependency) => assetManifestFile(dependency))
    return {
      name: artifact.stackName,
      resources: readResources(section('Resources')),
      outputs: section('Outputs'),
      parameters: section('Parameters'),
      conditions: section('Conditions'),
      mappings: section('Mappings'),
      assetPaths: new Map(manifests.flatMap(readAssetPaths)),
    }
  })
}

function readResources(section: Properties): Record<string, TemplateResource> {
  return Object.fromEntries(
    Object.entries(section).map(([logicalId, value]) => {
      const resource = asProperties(value, logicalId)
      const { Condition: condition } = resource
      return [
        logicalId,
        {
          type: asText(resource.Type, `Type of ${logicalId}`),
          properties: asProperties(resource.Properties, `Properties of ${logicalId}`),
          condition: condition === undefined ? undefined : asText(condition, `Condition of ${logicalId}`),
        },
      ]
    }),
  )
}

// Recognized by what it carries rather than by class: the artifact classes differ between copies of the library.
const assetManifestFile = (artifact: object): string[] =>
  'file' in artifact && typeof artifact.file === 'string' && artifact.file.endsWith('.assets.json')
    ? [artifact.file]
    : []

function readAssetPaths(manifestFile: string): [string, string][] {
  const manifest: unknown = JSON.parse(readFileSync(manifestFile, 'utf8'))
  const files = isProperties(manifest) ? asProperties(manifest.files, manifestFile) : {}
  return Object.values(files).flatMap((entry) => {
    const { source, destinations } = asProperties(entry, manifestFile)
    const { path } = asProperties(source, manifestFile)
    if (path === undefined) return []
    const absolute = resolve(dirname(manifestFile), asText(path, manifestFile))
    return Object.values(asProperties(destinations, manifestFile)).map((destination): [string, string] => [
      asText(asProperties(destination, manifestFile).objectKey, manifestFile),
      absolute,
    ])
  })
}
