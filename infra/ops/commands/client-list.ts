import type { Command } from 'commander'
import { examples } from '../examples.ts'
import type { Carry } from '../ops.ts'
import { formatTable } from '../terminal.ts'

/** `client list`: every registered application. */
export const addClientList = (parent: Command, carry: Carry): Command =>
  parent
    .command('list')
    .description('Shows every registered application, without its secret.')
    .addHelpText('after', examples([['client list', 'who may ask for codes']]))
    .action(() =>
      carry(async ({ show }) => {
        const { listClients } = await import('../../../shared/oauth/client.ts')
        const clients = (await listClients()).map((client) => ({
          client_id: client.clientId,
          name: client.name,
          confidential: client.secretHash !== undefined,
          redirect_uris: client.redirectUris,
          scopes: client.scopes,
          updated_at: client.updatedAt,
        }))
        show({ clients }, () =>
          formatTable(
            ['CLIENT', 'NAME', 'KIND', 'REDIRECTS TO', 'SCOPES'],
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
