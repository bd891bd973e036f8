/** HTML attributes by name (`true` sets an attribute without a value), and event listeners named `on…`. */
type Attributes = Record<string, string | boolean | undefined | ((event: Event) => void)>
type Child = Node | string | undefined

/** Creates an HTML element. Strings become text nodes, so text from the page's URL cannot become markup. */
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

/** Creates a button that does not submit a form, in the style `primary`, `secondary` or `link`. */
export const makeButton = (
  kind: 'primary' | 'secondary' | 'link',
  label: string,
  onclick: (event: Event) => void,
): HTMLButtonElement => make('button', { type: 'button', class: kind, onclick }, label)

const svgNamespace = 'http://www.w3.org/2000/svg'

/** Creates a decorative icon from an SVG symbol of the page. Assistive technology does not see it. */
export function icon(name: string, className = 'icon'): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg')
  svg.setAttribute('class', className)
  svg.setAttribute('aria-hidden', 'true')
  const use = document.createElementNS(svgNamespace, 'use')
  use.setAttribute('href', `#${name}`)
  svg.append(use)
  return svg
}

/** An app's name in bold. `bdi` keeps a right-to-left name from reordering the text around it. */
export const appName = (name: string): HTMLElement => make('bdi', { class: 'name' }, name)

/** States the address to which the user returns. An app can choose a false name, but not a false address. */
export const showDestination = (destination: string): HTMLElement =>
  make('p', { class: 'fine destination' }, 'You then return to ', make('bdi', {}, destination), '.')
