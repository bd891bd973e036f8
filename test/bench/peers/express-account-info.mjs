import serverlessExpress from '@codegenie/serverless-express'
import express from 'express'
import { answerAccountInfo, path } from './account-info.mjs'

const app = express()
app.use(express.json())
app.get(path, async (request, response) => {
  const body = await answerAccountInfo(request.headers.authorization)
  if (body === undefined) response.status(401).end()
  else response.type('application/json').send(body)
})

export const handler = serverlessExpress({ app })
