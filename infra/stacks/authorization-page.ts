export { AuthorizationPageContentStack } from './authorization-page-content-stack.ts'
export { AuthorizationPageStack } from './authorization-page-stack.ts'
