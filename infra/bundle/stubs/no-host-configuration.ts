/**
 * Replaces in a bundle what the SDK reads and does on machines that people set up: configuration files,
 * metadata of an EC2 instance, adaptive retries. A function has its environment and clientOptions() only.
 */
export const fromSharedConfigFiles = () => () =>
  Promise.reject(Object.assign(new Error('a function has no configuration files'), { tryNextLink: true }))

/** Replaces the region of an EC2 instance; if a client asks for it, this throws. */
export function getInstanceMetadataRegion(): never {
  throw new Error('a function knows its region: bundle getInstanceMetadataRegion of @smithy/core for it')
}

/** Replaces the retry mode `adaptive`; if somebody switches it on, this throws. */
export function AdaptiveRetryStrategy(): never {
  throw new Error('the retry mode is adaptive: bundle AdaptiveRetryStrategy of @smithy/core for it')
}

/** Replaces the choice of default settings, which may ask whether the host is in the region of the client. */
export const resolveDefaultsModeConfig = () => () => Promise.resolve('legacy')
