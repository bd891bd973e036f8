/** Header in which the edge proves to the functions that a request came through it. */
export const originSecretHeader = 'x-origin-secret'

/** Header in which CloudFront names the viewer's address and port (CloudFront Developer Guide). */
export const viewerAddressHeader = 'cloudfront-viewer-address'
