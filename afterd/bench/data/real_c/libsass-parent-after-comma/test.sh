./driver navbar.scss | grep -q "url\]:valid {"
