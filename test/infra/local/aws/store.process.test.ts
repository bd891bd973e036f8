import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  CreateKeyCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  GenerateMacCommand,
  KMSClient,
} from '@aws-sdk/client-kms'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { eventually } from './eventually.ts'
import { makeDirectory } from './make-directory.ts'
import { persistentStack } from './persistent-stack.ts'
import { startStack } from './stack.ts'

const mac = new GenerateMacCommand({
  KeyId: '11111111-2222-3333-4444-555555555555',
  Message: Buffer.from('x'),
  MacAlgorithm: 'HMAC_SHA_256',
})
const mail = new SendEmailCommand({
  FromEmailAddress: 'a@example.com',
  Destination: { ToAddresses: ['b@example.com'] },
  Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
})
const queueUrl = (name: string) => `http://host/123456789012/${name}`

async function startKilledEndpoint(directory: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'killed-endpoint.ts'), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const config = {
    endpoint: line.toString().trim(),
    region: 'eu-central-1',
    credentials: { accessKeyId: 'OWNER', secretAccessKey: 'x' },
  }
  return {
    kms: new KMSClient(config),
    sqs: new SQSClient(config),
    ses: new SESv2Client(config),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('KMS keys, SQS messages and mails survive kill -9, and messages in flight are delivered again', async () => {
  const directory = makeDirectory()
  const before = await startKilledEndpoint(directory)
  const { Mac } = await before.kms.send(mac)
  const { KeyMetadata } = await before.kms.send(
    new CreateKeyCommand({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' }),
  )
  await before.kms.send(new DisableKeyCommand({ KeyId: KeyMetadata?.KeyId }))
  await before.ses.send(mail)
  for (const body of ['1', '2', '3'])
    await before.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl('idle'), MessageBody: body }))
  const fifo = {
    QueueUrl: queueUrl('tree.fifo'),
    MessageGroupId: 'g',
    MessageBody: 'f',
    MessageDeduplicationId: 'f',
  }
  const first = await before.sqs.send(new SendMessageCommand(fifo))
  await before.sqs.send(new SendMessageCommand({ QueueUrl: queueUrl('stuck'), MessageBody: 'worked on' }))
  await eventually(async () => {
    const { Attributes } = await before.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl('stuck'), AttributeNames: ['All'] }),
    )
    return Attributes?.ApproximateNumberOfMessagesNotVisible === '1'
  })
  await before.kill()

  const { kms, sqs, endpoint } = await startStack(persistentStack, { dataDirectory: directory })
  expect((await kms.send(mac)).Mac).toEqual(Mac)
  const found = await kms.send(new DescribeKeyCommand({ KeyId: KeyMetadata?.KeyId }))
  expect(found.KeyMetadata).toMatchObject({ KeyId: KeyMetadata?.KeyId, KeyState: 'Disabled' })
  expect(endpoint.outbox()).toMatchObject([{ to: 'b@example.com', subject: 's', text: 't' }])

  const receive = async (name: string) => {
    const input = { QueueUrl: queueUrl(name), MaxNumberOfMessages: 10 }
    return ((await sqs.send(new ReceiveMessageCommand(input))).Messages ?? []).map(({ Body }) => Body)
  }
  expect(await receive('idle')).toEqual(['1', '2', '3'])
  expect(await receive('stuck')).toEqual(['worked on'])
  const again = await sqs.send(new SendMessageCommand(fifo))
  expect(again.MessageId).toBe(first.MessageId)
  expect(await receive('tree.fifo')).toEqual(['f'])
})

test('the data files of the AWS endpoint are readable by their owner only', async () => {
  const directory = makeDirectory()
  await startStack(persistentStack, { dataDirectory: directory })
  const files = readdirSync(directory)
  expect(files).toContain('aws.sqlite')
  for (const file of files) expect(statSync(join(directory, file)).mode & 0o777, file).toBe(0o600)
})
