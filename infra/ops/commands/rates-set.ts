import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { UsageError } from '../problems.ts'
import type { Carry } from '../ops.ts'

/** `rates set`: publishes the rates by which wallets are converted. */
export const addRatesSet = (parent: Command, carry: Carry): Command =>
  parent
    .command('set')
    .argument('<rates...>', 'CURRENCY=RATE, in units of the quote currency')
    .description(
      'Publishes rates by the event rates.published. They are the whole truth: a currency left out has no rate any more.',
    )
    .addHelpText('after', examples([['rates set BTC=65000.5 ETH=3120', 'what one of each is worth']]))
    .action((pairs: string[]) => {
      const rates = readRates(pairs)
      return carry(async ({ target, show }) => {
        const { sendOne } = await import('../events/send-one.ts')
        const quote = target.settings.quoteCurrency
        const asOf = Date.now()
        await sendOne(target, {
          detailType: 'rates.published',
          businessKey: `${quote}#${asOf}`,
          detail: { quote, as_of: asOf, rates },
        })
        show({ quote, as_of: asOf, rates }, () => `${pairs.length} rates in ${quote} are set.`)
        return true
      })
    })

function readRates(pairs: string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, currency, rate] = /^([A-Za-z0-9._-]{1,20})=(\d{1,20}(?:\.\d{1,18})?)$/.exec(pair) ?? []
      if (currency === undefined || rate === undefined)
        throw new UsageError(`${pair} is not of the form CURRENCY=RATE, for example BTC=65000.5`)
      return [currency.toUpperCase(), rate]
    }),
  )
}
