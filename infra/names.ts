const service = 'account-service'

/** Name of an endpoint's Lambda function, without the stage's prefix: `user/logout` → `user-logout`. */
export const endpointName = (entry: string): string => entry.replaceAll('/', '-')

/** Name of an event's queue and rule, without the stage's prefix: `user.updated` → `user-updated`. */
export const eventName = (detailType: string): string => detailType.replaceAll('.', '-')

/** Tag of every resource and role of the service. Policies recognize the service's own roles by this tag. */
export const serviceTag = { name: 'service', value: service } as const

/** Every resource and every role has a tag with this name. Its value is the stage's name. */
export const stageTagName = 'stage'

/** The audit finds KMS keys by this tag. Example of its value: `account-service-dev/EvidenceKey`. */
export const keyTagName = 'key'

/** The tags of every resource of a stage. */
export const tagsOf = (stage: string) => ({ [serviceTag.name]: serviceTag.value, [stageTagName]: stage })

/**
 * Maximum length of a stage's name. Lambda allows 64 characters for a function's name: up to 29 for the
 * prefix, which contains the stage's name, and 35 for the rest.
 */
export const maxStageLength = 12

/**
 * Name of a stage's table, event bus, dashboard, metrics namespace and API. The stage's signing keys have a
 * tag with this value.
 */
export const serviceName = (stage: string): string => (stage === 'local' ? service : `${service}-${stage}`)

/**
 * Prefix of the names of a stage's resources, so that stages and other services can share an account. Empty
 * on the local stack.
 */
export const namePrefix = (stage: string): string => (stage === 'local' ? '' : `${serviceName(stage)}-`)
