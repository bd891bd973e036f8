import type { Config } from './config.ts'

/** CloudWatch namespace of the service's own metrics in a stage. */
export const serviceNamespace = ({ namePrefix }: Config): string => `${namePrefix}account-service`
