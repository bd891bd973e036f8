// Stubs that replace parts of the AWS SDK that no function uses. A stub made with `unused` throws if called.

const unused = (what: string) =>
  function (): never {
    throw new Error(`${what} is left out of the bundles of functions: see infra/bundle/stubs.ts`)
  }

/** Replaces `@aws-sdk/credential-provider-node`: clients get credentials from client-options.ts. */
export const defaultProvider = () => unused('the default chain of credentials')

/** Replaces `@aws-sdk/endpoint-cache`, because no client uses endpoint discovery. */
export class EndpointCache {
  getEndpoint = unused('endpoint discovery')
}

/** Leaves out `@smithy/core/event-streams`, a tenth of a bundle, because functions use no event streams. */
export const EventStreamSerde = /* @__PURE__ */ unused('the streaming of events')

/** Replaces the SDK's JavaScript code of SHA-256 and MD5, which runs only if `node:crypto` is missing. */
export const Sha256Js = /* @__PURE__ */ unused('SHA-256 in JavaScript')
export const Md5Js = /* @__PURE__ */ unused('MD5 in JavaScript')

/** Replaces the reader of AWS configuration files, because a function has no such files. */
export const fromSharedConfigFiles = () => () =>
  Promise.reject(Object.assign(new Error('a function has no configuration files'), { tryNextLink: true }))

/** Replaces the code that asks EC2 for the region, because a function has its region in its environment. */
export const getInstanceMetadataRegion = /* @__PURE__ */ unused('the region of an EC2 instance')

/** Leaves out the SDK's code for the retry mode `adaptive`, because no client uses this mode. */
export const AdaptiveRetryStrategy = /* @__PURE__ */ unused('the retry mode adaptive')

/** Replaces the SDK's choice of a defaults mode, so that the SDK never asks an EC2 host for the region. */
export const resolveDefaultsModeConfig = () => () => Promise.resolve('legacy')

/** Replaces an SDK client's `package.json`. The client reads only `version`, for the User-Agent header. */
export default { version: 'bundled' }
