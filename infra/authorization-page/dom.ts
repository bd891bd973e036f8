/** What an element may be given: attributes by name (`true` for a bare one), and listeners by `on…`. */
type Attributes = Record<string, string | boolean | undefined | ((event: Event) => void)>
type Child = Node | string | undefined

/** Makes an element. Texts only ever become text nodes, so nothing that came in the address can turn into markup. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (typeof value === 'string') element.setAttribute(name, value)
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

const svgNamespace = 'http://www.w3.org/2000/svg'

/** A picture out of the page's own symbols; decoration only, so hidden from assistive technology. */
export function icon(name: string, className = 'icon'): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg')
  svg.setAttribute('class', className)
  svg.setAttribute('aria-hidden', 'true')
  const use = document.createElementNS(svgNamespace, 'use')
  use.setAttribute('href', `#${name}`)
  svg.append(use)
  return svg
}

/** A name that somebody else chose: shown in bold, kept from changing the direction of the words around it. */
export const foreignName = (name: string): HTMLElement => make('bdi', { class: 'name' }, name)
