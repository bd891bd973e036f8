import type { Command } from 'commander'
import { examples, readSecret, type RunCommand } from '../command.ts'
import { formatTable } from '../terminal.ts'

interface AddOptions {
  name?: string
  redirectUri: string[]
  scope: string[]
  secretStdin?: true
}

/** Adds the command group `client`, which manages OAuth clients. */
export function addClientCommands(program: Command, run: RunCommand): void {
  const parent = program.command('client').description('Registers and lists OAuth clients.')
  addAdd(parent, run)
  addList(parent, run)
}

const addAdd = (parent: Command, run: RunCommand): Command =>
  parent
    .command('add')
    .argument('<client_id>', 'the client')
    .description('Registers a client with a client.registered event, or replaces its registration.')
    .option('--name <name>', 'the name that users see (default: the client_id)')
    .requiredOption('--redirect-uri <uri...>', 'the registered redirect URIs')
    .option('--scope <scope...>', 'the scopes that the client may request', ['openid'])
    .option(
      '--secret-stdin',
      'read the secret of a confidential client from standard input: 32 characters or more',
    )
    .addHelpText(
      'after',
      examples({
        'client add my-app --redirect-uri http://127.0.0.1:4000/callback --scope openid account.read':
          'registers a public client, which has PKCE instead of a secret',
        'client add shop --redirect-uri https://shop.example/cb --secret-stdin < secret.txt':
          'registers a confidential client',
      }),
    )
    .action((clientId: string, options: AddOptions) =>
      run(async ({ target, terminal, show }) => {
        const secret = options.secretStdin ? await readSecret(terminal, 'secret') : undefined
        const { sendAndConfirm } = await import('../events/send-and-confirm.ts')
        const at = Date.now()
        await sendAndConfirm(target, {
          detailType: 'client.registered',
          businessKey: `${clientId}#${at}`,
          detail: {
            client_id: clientId,
            updated_at: at,
            name: options.name ?? clientId,
            redirect_uris: options.redirectUri,
            secret,
            scopes: options.scope,
          },
        })
        show({ client_id: clientId, updated_at: at }, () => `Client ${clientId} is registered.`)
        return true
      }),
    )

const addList = (parent: Command, run: RunCommand): Command =>
  parent
    .command('list')
    .description('Lists the registered clients, without their secrets.')
    .addHelpText('after', examples({ 'client list': 'shows each client’s redirect URIs and scopes' }))
    .action(() =>
      run(async ({ show }) => {
        const { listClients } = await import('../../../shared/oauth/client.ts')
        const clients = (await listClients()).map((client) => ({
          client_id: client.clientId,
          name: client.name,
          confidential: client.secretMac !== undefined,
          redirect_uris: client.redirectUris,
          scopes: client.scopes,
          updated_at: client.updatedAt,
        }))
        show({ clients }, () =>
          formatTable(
            ['CLIENT', 'NAME', 'KIND', 'REDIRECT URIS', 'SCOPES'],
            clients.map((client) => [
              client.client_id,
              client.name,
              client.confidential ? 'confidential' : 'public',
              client.redirect_uris.join(' '),
              client.scopes.join(' '),
            ]),
          ),
        )
        return true
      }),
    )
