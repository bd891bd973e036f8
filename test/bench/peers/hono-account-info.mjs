import { Hono } from 'hono'
import { handle } from 'hono/aws-lambda'
import { answerAccountInfo, path } from './account-info.mjs'

const app = new Hono()
app.get(path, async (context) => {
  const body = await answerAccountInfo(context.req.header('authorization'))
  return body === undefined
    ? context.body(null, 401)
    : context.body(body, 200, { 'content-type': 'application/json' })
})

export const handler = handle(app)
