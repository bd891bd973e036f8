import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type * as v from 'valibot'
import { answerFailures } from './middleware/answer-failures.ts'
import { logRequest } from './middleware/log-request.ts'
import { readBody } from './middleware/read-body.ts'
import {
  answer,
  type Common,
  describe,
  type Endpoint,
  info,
  parse,
  type RequestInfo,
  type Result,
} from './pipeline.ts'

interface Public<Input extends v.GenericSchema, Output extends v.GenericSchema> extends Common<
  Input,
  Output
> {
  run: (input: v.InferOutput<Input>, request: RequestInfo) => Result<Output>
}

/** An endpoint that is open to everyone, or that authenticates its caller by other means than an access_token. */
export function publicEndpoint<Input extends v.GenericSchema, Output extends v.GenericSchema>(
  spec: Public<Input, Output>,
): Endpoint {
  const { dialect = 'envelope', accepts = 'none' } = spec
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(logRequest())
    .use(answerFailures(dialect))
    .use(readBody(accepts))
    .handler((event) => answer(spec.run(parse(spec.input, event, spec.repeats), info(event)), dialect))
  return describe(handler, { scope: 'public', input: spec.input, output: spec.output, dialect, accepts })
}
