/**
 * The SES identities that allow an address to send mail, the most specific first: the address, its domain,
 * and every parent domain. https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
 */
export function identitiesOf(address: string): string[] {
  const labels = address.slice(address.lastIndexOf('@') + 1).split('.')
  // Leaves out the top-level domain (the last label), because nobody can verify it.
  return [address, ...labels.slice(0, -1).map((_label, position) => labels.slice(position).join('.'))]
}
