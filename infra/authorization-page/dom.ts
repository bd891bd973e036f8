/** Attributes by name (`true` for one without a value), and event listeners by `on…`. */
type Attributes = Record<string, string | boolean | undefined | ((event: Event) => void)>
type Child = Node | string | undefined

/** Creates an element. Strings become text nodes, so text from the page's address can never become markup. */
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

/** One of the page's SVG symbols. It is decoration, and hidden from assistive technology. */
export function icon(name: string, className = 'icon'): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg')
  svg.setAttribute('class', className)
  svg.setAttribute('aria-hidden', 'true')
  const use = document.createElementNS(svgNamespace, 'use')
  use.setAttribute('href', `#${name}`)
  svg.append(use)
  return svg
}

/** A name that an app chose, in bold. `bdi` keeps it from changing the text direction around it. */
export const appName = (name: string): HTMLElement => make('bdi', { class: 'name' }, name)
