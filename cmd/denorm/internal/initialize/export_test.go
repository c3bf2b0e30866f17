package initialize

// Text is what would be written.
func (p *Plan) Text() (string, error) {
	text, err := p.sets("shop")
	return p.String() + p.Migration() + p.steps("shop", "shop", nil) + string(text), err
}
